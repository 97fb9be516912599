"""``hyperplan predict``: score new rows with the model of a competition."""

import sys
import tempfile
from pathlib import Path

from hyperplan.cli import require_extra


def run(model, table, out, lang) -> int:
    """Load, check the columns, predict, write beside and rename."""
    require_extra("pandas", "report")
    from hyperplan._texts import text
    from hyperplan.compete import read_table
    from hyperplan.compete._errors import SpokenError
    from hyperplan.compete._predict import load_model, predict_table

    try:
        loaded = load_model(model)
        frame = read_table(table)
        predictions, unused = predict_table(loaded, frame)
        _write(predictions, Path(out))
    except SpokenError as error:
        print(f"hyperplan: {error.message(lang)}", file=sys.stderr)
        return 2
    except MemoryError:
        print(f"hyperplan: {text('compete.errors.memory', lang)}", file=sys.stderr)
        return 2
    if unused:
        print(text("compete.predict.extra", lang, columns=", ".join(unused)))
    print(text("compete.predict.done", lang, count=len(predictions), path=out))
    return 0


def _write(predictions, path: Path) -> None:
    from hyperplan.compete import CompetitionError
    from hyperplan.compete._errors import reason_of

    beside = None
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".csv", delete=False, encoding="utf-8") as file:
            beside = Path(file.name)
            predictions.to_csv(file, index=False)
        beside.chmod(0o644)
        beside.replace(path)
    except OSError as error:
        raise CompetitionError("out_unwritable", folder=path, reason=reason_of(error)) from None
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)  # where it is still there, it is half a file
