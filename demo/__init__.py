"""`make run`: a sample business, its website on loopback, and one crawl of it from address to text."""
