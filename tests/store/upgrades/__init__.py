"""Databases that earlier versions wrote, one SQL file for each shape and kind of database; they are never edited."""
