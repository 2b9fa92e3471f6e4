"""Built-in datasets, as the simulator's run settings name them."""

from typing import Any

# digits: scikit-learn's copy of the UCI "Optical Recognition of Handwritten Digits" test set (load_digits).
DATASETS: tuple[dict[str, Any], ...] = (
    {
        "id": "digits",
        "name": "Handwritten digits",
        "description": "1,797 grey images of 8 x 8 pixels in ten classes, scaled to the model's input. "
        "From scikit-learn (UCI Optical Recognition of Handwritten Digits).",
        "samples": 1797,
        "classes": 10,
    },
    {
        "id": "synthetic",
        "name": "Synthetic",
        "description": "Random samples in the shape of the model's inputs, drawn from the run's seed.",
        "samples": None,
        "classes": None,
    },
)
