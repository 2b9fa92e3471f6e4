"""How fast the simulator is, beside what its peers take: ``python -m tests.bench``. Not part of the suite."""
