"""Is this training healthy? Anomaly mode, broken chains, loss curves, gradient flow."""

from dezero.diagnostics.anomaly import detect_anomaly

__all__ = ["detect_anomaly"]
