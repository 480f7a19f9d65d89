"""What the server imports, loaded once for every child that is forked from here."""

import gc

import alembic.autogenerate
import httpx
import psycopg

import midwatch.engine.work_engine
import midwatch.surfaces.cli.shell.offline
import midwatch.surfaces.server

__all__ = ["alembic", "httpx", "midwatch", "psycopg"]

gc.collect()
gc.freeze()  # otherwise each child's first collection writes to, and so copies, every page
