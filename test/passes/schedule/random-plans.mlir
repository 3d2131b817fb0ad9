// Random programs: what add-dependencies and place-buffers make is checked by
// brute force, and verify-races must miss each single edge.
// RUN: python3 %S/random_plans.py --seed 1 --count 60
