"""`forge`: where pull requests are opened."""

import typer

from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.listing import lists
from midwatch.surfaces.cli.shell.screen import Columns, show_rows

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def list_forges(*, as_json: bool) -> None:
    columns: Columns = {
        "forge": "name",
        "speaks": "speaks",
        "repositories at": lambda row: row["host"] or "this machine",
        "token": lambda row: row["secret"] or "-",
        "opens": lambda row: "drafts" if row["draft"] else "pull requests",
    }
    show_rows(client.get("/forges"), "", columns, as_json=as_json)


lists(
    app,
    list_forges,
    "List the forges, where pull requests are opened.",
    example="midwatch forge --json",
    more="A forge is set up in [forges] of midwatch.toml; local is your own repository and always there.",
)

VERBS = {"forge": app}
