"""The command that compares programs: doctor."""

import typer

from morphgraph.cli import output
from morphgraph.cli.options import Named, with_options


@with_options
def doctor(tokeniser: Named, as_json: bool = False) -> None:
    """Report whether all installed programs read a tokeniser's files alike.

    Each gets 300 texts and all types; the ids of tokenizers are the reference. Exit code 1: a
    program differs, or a check fails.

    tokeniser: A folder, whose files are one tokeniser, or a file.
    """
    from morphgraph_doctor.diagnosis import doctor as diagnosed

    found = diagnosed(tokeniser)
    if as_json:
        output.print_json(found.to_dict())
    else:
        print(found)
    if not found.fine:
        raise typer.Exit(1)
