"""What every route needs: the house, and who is asking."""

from typing import Annotated

from fastapi import Depends, Request

from midwatch.compose import House


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


def _person(request: Request) -> str:
    person: str = request.app.state.person
    return person


TheHouse = Annotated[House, Depends(_house)]
Person = Annotated[str, Depends(_person)]
