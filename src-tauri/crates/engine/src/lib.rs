//! Plans, runs and judges: pure decisions over the ports of contract.
