"""Reads of access: people and tokens."""

from midwatch.compose.read_side import ReadSide
from midwatch.surfaces.queries.reads import Page, ReadTable
from midwatch.terms.people import Scope
from midwatch.terms.records import PersonRow, TokenRow

READS = ReadTable()


@READS.at("/people", Scope.GOVERN)
async def people(house: ReadSide, page: Page) -> list[PersonRow]:
    """List who may log in."""
    return page.of(await house.records.find(PersonRow, removed=False))


@READS.at("/tokens", Scope.GOVERN)
async def tokens(house: ReadSide, page: Page) -> list[TokenRow]:
    """List the tokens; never their secrets."""
    return page.of(await house.records.find(TokenRow))
