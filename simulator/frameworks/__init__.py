"""What the software above Poplar decides: fusion, partials, what it keeps, how its host loop calls the device."""
