"""The lab: a queue and its fleet in virtual time, driven by the code that decides in production.

Needs the extra `lab` (numpy, scipy, rich). Same scenario, policy and seed: same outcome, to the last bit.
"""
