"""An independent NumPy twin of the DSL: the maths of every op with its gradient.

Nothing here is derived from the compiler. Each op is written from its
definition, and test_gradients.py compares every gradient with central
differences, so that random_programs.py has an oracle it can trust.
"""
