"""Is this training healthy, and what does it take? Anomalies, losses, profiles."""

from dezero.diagnostics.anomaly import detect_anomaly
from dezero.diagnostics.batch import overfit_one_batch
from dezero.diagnostics.chains import explain_grad
from dezero.diagnostics.flow import gradient_flow
from dezero.diagnostics.losses import diagnose_loss
from dezero.diagnostics.outputs import activations
from dezero.diagnostics.profiling import profile
from dezero.diagnostics.updates import check_updates

__all__ = [
    "activations",
    "check_updates",
    "detect_anomaly",
    "diagnose_loss",
    "explain_grad",
    "gradient_flow",
    "overfit_one_batch",
    "profile",
]
