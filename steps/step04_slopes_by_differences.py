r"""
Step 04: slopes by differences
==============================

How much does :math:`y` change when :math:`x` changes a little? The shortest answer in
code is to try it. Move :math:`x` by a small step :math:`h`, and divide the change of
:math:`y` by the change of :math:`x`:

.. math::

   \text{forward:}\quad \frac{f(x + h) - f(x)}{h} \qquad\qquad
   \text{central:}\quad \frac{f(x + h) - f(x - h)}{2h}

Both are estimates of the derivative, the slope :math:`f'(x)`. This step measures how
good they are. They will not be our way to slopes, but they will be our judge: step 10
tests every slope against them.

New since the step before: the functions ``forward_difference`` and
``central_difference``.
"""

# %%
# From the steps before, with the chain :math:`y = e^{x^4}` of step 03:
import numpy as np


class Variable:
    def __init__(self, data):
        self.data = data


class Function:
    def __call__(self, x):
        y = self.forward(x.data)
        return Variable(y)


class Square(Function):
    def forward(self, x):
        return x**2


class Exp(Function):
    def forward(self, x):
        return np.exp(x)


def chain(x):
    return Exp()(Square()(Square()(x)))


# %%
# ``f`` is anything that takes a Variable and returns one: a Function, or a ``def`` such
# as ``chain``. The new functions know nothing of what happens inside it.


# New in this step
def forward_difference(f, x, h):
    y0 = f(x)
    y1 = f(Variable(x.data + h))
    return (y1.data - y0.data) / h


def central_difference(f, x, h):
    y0 = f(Variable(x.data - h))
    y1 = f(Variable(x.data + h))
    return (y1.data - y0.data) / (2 * h)


# %%
# The chain is known well enough to give its slope on paper,
# :math:`f'(x) = 4x^3 e^{x^4}`. So the errors can be measured.
def exact_slope(x):
    x = float(x.data)
    return 4 * x**3 * np.exp(x**4)


x = Variable(np.array(0.8))
print("exact:  ", exact_slope(x))
print("forward:", forward_difference(chain, x, 1e-4))
print("central:", central_difference(chain, x, 1e-4))

# %%
# The central difference is far nearer. Taylor's formula says why. The error of the
# forward difference is about :math:`\tfrac{h}{2} f''(x)`, that of the central one
# about :math:`\tfrac{h^2}{6} f'''(x)`, since the terms with :math:`f''` cancel. A step
# ten times smaller makes the one error about ten times smaller and the other about a
# hundred times. The table shows relative errors, which are errors divided by the slope:
# 1e-02 means one per cent.


def error(difference, x, h):
    return abs(difference(chain, x, h) - exact_slope(x)) / exact_slope(x)


print("step h   forward   central")
for h in [1e-1, 1e-2, 1e-3, 1e-4]:
    e_forward = error(forward_difference, x, h)
    e_central = error(central_difference, x, h)
    print(f"{h:.0e}    {e_forward:.1e}   {e_central:.1e}")

# %%
# Then why not take a tiny step? Because the computer rounds. Each value of :math:`f` is
# off by a relative error of up to :math:`u`, about 1e-16 in float64, the usual type of
# NumPy, and 6e-8 in float32. The two values are nearly equal, so the difference keeps
# little but this rounding, and the division by :math:`h` enlarges it to about
# :math:`u/h`. Below some step the estimate gets worse again. Where, we find by trying
# many. ``tolist`` makes Python floats of them: added to a float32 they leave it
# float32, where a float64 of NumPy would not.
steps = np.logspace(-14, -0.5, 55).tolist()
x32 = Variable(np.array(0.8, dtype=np.float32))
cases = {
    "forward, float64": (forward_difference, x),
    "central, float64": (central_difference, x),
    "forward, float32": (forward_difference, x32),
    "central, float32": (central_difference, x32),
}
errors = {}
for name, (difference, point) in cases.items():
    errors[name] = np.array([error(difference, point, h) for h in steps])
    best = errors[name].argmin()
    print(f"{name}: best h = {steps[best]:.0e}, error there {errors[name].min():.0e}")

# %%
# In the picture, each line comes down from the right with the step and goes up again
# where rounding takes over. There it is jagged, since rounding is partly luck, and so
# is the exact place of the best step. The dashed lines are float32. At the right end
# they hide behind the solid ones, but rounding takes over much sooner. Below 1e-8 the
# float32 sum ``x + h`` rounds to ``x``: the estimate is zero, and the error is 1, all
# of the slope.
try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, ax = plt.subplots(figsize=(7, 4.5))
    for name, color in zip(errors, ["C0", "C1", "C0", "C1"], strict=True):
        style = "-" if name.endswith("64") else "--"
        ax.loglog(steps, errors[name], style, color=color, label=name)
    ax.set_xlabel("step h")
    ax.set_ylabel("relative error of the slope")
    ax.legend()
    fig.tight_layout()
    plt.savefig("step04.png")
    print("the picture is in step04.png")

# %%
# So differences are slightly wrong at any step, and they are costly. One input needs
# two runs of the program. With a million inputs, each has to be moved by itself: two
# million runs. The steps to come get all slopes for the price of a few runs, with no
# error but ordinary rounding.

# %%
# What the text claims, checked:
ratio = error(forward_difference, x, 1e-2) / error(forward_difference, x, 1e-3)
assert 9 < ratio < 12
ratio = error(central_difference, x, 1e-2) / error(central_difference, x, 1e-3)
assert 95 < ratio < 105
assert errors["central, float64"].min() < 1e-9 < error(forward_difference, x, 1e-4)
assert errors["central, float32"].min() < 1e-3
assert errors["central, float64"][0] > 1e-4  # h = 1e-14: too small a step
assert central_difference(chain, x32, 1e-9) == 0.0
assert error(central_difference, x32, 1e-9) == 1.0

# %%
# Exercises
# ---------
#
# 1. All derivatives of ``Exp`` at x = 1 are :math:`e`. Predict the errors of both
#    differences at h = 0.001 from the formulas above, then measure them: estimate minus
#    slope, not divided by anything.
# 2. Try the central difference of ``Square`` at x = 3 with h = 1, a very large step.
#    How large is the error, and why?
# 3. A second derivative by differences is :math:`(f(x+h) - 2f(x) + f(x-h)) / h^2`. For
#    ``chain`` at 0.8 it should be :math:`(12x^2 + 16x^6)\,e^{x^4}`. Rounding is divided
#    by :math:`h^2` now. Compare the errors at h = 1e-4 and at h = 1e-9.
