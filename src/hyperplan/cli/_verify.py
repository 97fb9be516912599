"""``hyperplan verify``: make a row of a leaderboard again and say whether it is the same."""

import sys

from hyperplan._texts.extras import required


def run(receipt, table, model, split, lang) -> int:
    """0 when every repeated trial is identical or within tolerance, 1 when one differs."""
    required("pandas")
    from hyperplan._texts import text
    from hyperplan.compete._errors import SpokenError
    from hyperplan.compete._verify import other_versions, verify
    from hyperplan.compete._verify_words import last_line, trial_line, versions_line

    found = []
    try:
        if changed := other_versions(receipt):
            print(versions_line(changed, lang))
        for verdict in verify(receipt, table, model, split):
            print(trial_line(verdict, lang), flush=True)
            found.append(verdict)
        worst, line = last_line(receipt, found, lang)
        print(line)
    except SpokenError as error:
        print(f"hyperplan: {error.message(lang)}", file=sys.stderr)
        return 2
    except MemoryError:
        print(f"hyperplan: {text('compete.errors.memory', lang)}", file=sys.stderr)
        return 2
    return int(worst == "differs")
