"""The demo's sample repository: a small shop with typical faults."""

CHECK = "python3 -m unittest -q"

FILES = {
    "README.md": """\
# Sample shop

A small shop that sells tea. Prices are in cents.

- [How prices are made](docs/prices.md)
- [How to contribute](docs/contributing.md)
""",
    "docs/prices.md": "# Prices\n\nA price is an integer number of cents.   \n",
    "pyproject.toml": '[project]\nname = "sample-shop"\nversion = "0.1"\nrequires-python = ">=3.11"\n',
    "shop/__init__.py": '"""A small shop."""\n\nfrom shop.basket import Basket\n\n__all__ = ["Basket"]\n',
    "shop/basket.py": '''\
"""What a customer wants to buy."""

import os
import sys
from dataclasses import dataclass, field
from typing import Dict, List, Optional


@dataclass
class Basket:
    """Items by name, with their price in cents."""

    items: Dict[str, int] = field(default_factory=dict)

    def add(self, name, cents):
        """Put something in."""
        if cents < 0:
            raise ValueError(f"a price cannot be negative")
        self.items[name] = cents    

    def total(self):
        """What it costs."""
        return sum(self.items.values())
''',
    "shop/receipt.py": '''\
"""Writing a receipt."""

import json
import datetime
from shop.basket import Basket


def receipt(basket: Basket) -> str:
    """One line per item, then the total."""
    lines = [f"{name}: {cents / 100:.2f}" for name, cents in basket.items.items()]
    lines.append(f"total: {basket.total() / 100:.2f}")
    return "\\n".join(lines)
''',
    "shop/discount.py": '''\
"""Discounts."""

import math
from shop.basket import Basket


def percent_off(basket, percent):
    """Take a share off the total."""
    return round_cents(basket.total() * (100 - percent) / 100)


def is_free(basket):
    """Whether there is nothing to pay."""
    return basket.total() is 0
''',
    "data/prices.json": '{"green tea": 450, "black tea": 390,}\n',
    "tests/__init__.py": "",
    "tests/test_basket.py": """\
import unittest
import re

from shop import Basket
from shop.receipt import receipt


class BasketTest(unittest.TestCase):
    def test_it_adds_up(self):
        basket = Basket()
        basket.add("green tea", 450)
        basket.add("black tea", 390)
        self.assertEqual(basket.total(), 840)

    def test_a_price_is_not_negative(self):
        with self.assertRaises(ValueError):
            Basket().add("gift", -1)

    def test_the_receipt_ends_with_the_total(self):
        basket = Basket()
        basket.add("green tea", 450)
        self.assertTrue(receipt(basket).endswith("total: 4.50"))
""",
}
