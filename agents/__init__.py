"""Who acts: intake, site (the actor), pump, memory (the table), sink. Only `app.py` knows this room."""
