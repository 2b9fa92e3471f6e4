"""What programs run on: constants, tiles, chips, systems. Every number is data with its source beside it."""
