"""A slice that other IPUs read crosses as a slice, and its slope comes back as small and is filled up at home."""

from functools import cache

from simulator import RunConfig
from simulator.graph.graph import Pass, check
from simulator.laying import Laid
from simulator.validation.runs import Runs

CONFIG = RunConfig(
    task="train", batch=1, precision="fp16", partials="fp16", optimiser="momentum", system="pod4", ipus=4,
    accumulation=8, splits=("down2.", "up3.join", "up1.join"), stage_ipus=(0, 1, 2, 3), schedule="grouped",
    recompute="stages",
)  # fmt: skip
CROP = 64 * 392 * 392 * 2  # bytes of the half precision middle that the first level of U-Net keeps


@cache
def unet() -> Laid:
    return Runs().laid("zoo:unet", CONFIG)[1]


def test_what_leaves_an_ipu_is_the_slice_and_not_what_it_was_taken_from() -> None:
    first = unet().planned[0].part
    check(first.graph)
    sizes = sorted(int(first.graph.tensors.bytes[root]) for root in first.leaving)
    assert sizes == sorted([CROP, 128 * 200 * 200 * 2, 128 * 140 * 140 * 2])


def test_the_slope_of_a_slice_is_filled_up_where_the_slice_was_taken() -> None:
    of_crop = {}
    for number, each in enumerate(unet().planned):
        ops = each.part.graph.ops
        for source, primitive, pass_ in zip(ops.source, ops.primitive, ops.pass_.tolist(), strict=True):
            if source in ("down0.crop", "down2.crop") and primitive == "pad" and pass_ == Pass.BACKWARD:
                of_crop[source] = number
    assert of_crop == {"down0.crop": 0, "down2.crop": 1}


def test_hops_carry_the_slice_both_ways() -> None:
    forth = [hop.bytes for hop in unet().hops if (hop.source, hop.target, hop.pass_) == (2, 3, Pass.FORWARD)]
    back = [hop.bytes for hop in unet().hops if (hop.source, hop.target, hop.pass_) == (3, 2, Pass.BACKWARD)]
    crops = CROP + 128 * 200 * 200 * 2
    assert crops < sum(forth) < crops + 2 * 10240000 + 1
    assert crops < sum(back) < crops + 2 * 10240000 + 1
