"""The one database: journal, records, migrations, blobs. The only place (with the engine) that knows SQL."""
