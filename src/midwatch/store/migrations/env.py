"""Alembic looks for this file; midwatch.store.migrate runs the migrations itself."""
