"""``hyperplan verify``: make a row of a leaderboard again and say whether it is the same."""

import sys

from hyperplan.cli import require_extra


def run(receipt, table, model, split, lang) -> int:
    """0 when every repeated trial is identical or within tolerance, 1 when one differs."""
    require_extra("pandas", "report")
    from hyperplan._texts import text
    from hyperplan.compete._errors import SpokenError
    from hyperplan.compete._verify import other_versions, verify

    worst = 0
    try:
        if changed := other_versions(receipt):
            shown = ", ".join(f"{name} {then} -> {now}" for name, (then, now) in changed.items())
            print(text("compete.verify.versions", lang, versions=shown))
        for found in verify(receipt, table, model, split):
            values = {"old": f"{found.old:.8g}", "new": f"{found.new:.8g}"}
            values |= {"difference": f"{abs(found.old - found.new):.2g}", "count": found.n_predictions}
            print(text(f"compete.verify.{found.verdict}", lang, name=found.name, split=found.split, **values))
            worst = max(worst, int(found.verdict == "differs"))
    except SpokenError as error:
        print(f"hyperplan: {error.message(lang)}", file=sys.stderr)
        return 2
    except MemoryError:
        print(f"hyperplan: {text('compete.errors.memory', lang)}", file=sys.stderr)
        return 2
    return worst
