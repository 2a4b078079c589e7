"""The stand-in has no name and takes no argument that the real front end has not."""

import pytest

from . import front_end
from .names import CLASSES, ENUMS, MODULE


def test_the_module():
    assert set(vars(front_end.CUDNN)) - set(dir(type(front_end.CUDNN))) <= {
        *MODULE,
        *[name for name in vars(front_end.CUDNN) if name.startswith("__")],
    }
    with pytest.raises(AttributeError):
        front_end.CUDNN.convolution  # noqa: B018


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name):
    members = {k for k in vars(getattr(front_end, name)) if k[0] != "_"}
    assert members <= set(CLASSES[name])


@pytest.mark.parametrize("name", ENUMS)
def test_enums(name):
    assert set(getattr(front_end, name).__members__) == set(ENUMS[name])


@pytest.mark.parametrize(
    "call",
    [
        lambda: front_end.create_handle(0),
        lambda: front_end.set_stream(front_end.create_handle()),
        lambda: front_end.pygraph(handle=front_end.create_handle(), tf32=False),
        lambda: front_end.Tensor().set_shape([1]),
        lambda: front_end.Tensor().set_dim(dims=[1]),
        lambda: front_end.pygraph.conv_fprop(None, image=1, filter=2),
        lambda: front_end.pygraph.conv_fprop(
            None, image=1, weight=2, padding=[1], pre_padding=[1]
        ),
    ],
)
def test_what_the_real_one_would_refuse(call):
    with pytest.raises((TypeError, AttributeError)):
        call()
