"""What every room stands on: errors, checks of parameters, strict JSON, whole files, the model file."""
