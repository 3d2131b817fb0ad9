"""Random .dl programs, each as C++ text and as a run of the NumPy twin."""
