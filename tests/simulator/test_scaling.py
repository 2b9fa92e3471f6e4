"""Throughput of a replica on every slice of its system."""

import pytest

from simulator import RunConfig, simulate


@pytest.mark.parametrize(
    ("settings", "sizes"),
    [
        ({"system": "pod16"}, [1, 2, 4, 8, 16]),
        ({"system": "pod16", "stages": 2, "accumulation": 4}, [2, 4, 8, 16]),
        ({"system": "ipus:4"}, [1, 2, 4]),
    ],
)
def test_each_row_is_what_a_simulation_of_that_slice_says(settings: dict[str, object], sizes: list[int]) -> None:
    report = simulate("zoo:mnist", RunConfig.from_dict(settings))
    rows = report["scaling"]
    assert [row["ipus"] for row in rows] == sizes
    for row in rows[1:3]:
        system = report["parallel"]["system"]
        alone = simulate("zoo:mnist", RunConfig.from_dict({**settings, "system": system, "ipus": row["ipus"]}))
        assert row["step_seconds"] == alone["step_seconds"]
        assert row["samples_per_second"] == pytest.approx(alone["samples_per_second"])
        assert (row["replicas"], row["global_batch"]) == (
            alone["parallel"]["replicas"], alone["parallel"]["global_batch"],
        )  # fmt: skip
    assert rows[0]["efficiency"] == 1
    last, least = rows[-1], rows[0]
    ratio = last["samples_per_second"] / last["ipus"] / (least["samples_per_second"] / least["ipus"])
    assert last["efficiency"] == pytest.approx(ratio)


def test_sizes_that_share_out_state_otherwise_are_left_out() -> None:
    report = simulate("zoo:mnist", RunConfig(system="pod16", optimiser="momentum", shard_optimiser=True))
    assert [row["ipus"] for row in report["scaling"]] == [16]
