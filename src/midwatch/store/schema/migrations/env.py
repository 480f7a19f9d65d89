"""Alembic looks for this file; midwatch.store.schema.migrate runs the migrations itself."""
