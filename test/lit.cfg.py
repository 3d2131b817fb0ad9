"""Tests of IR: each .mlir file says in RUN lines what to run on it."""

import os

import lit.formats

config.name = "dl"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
# These hold inputs of unit tests.
config.excludes = ["codegen", "compiler", "runtime"]
config.test_source_root = config.source_root
config.test_exec_root = config.binary_root

path = os.pathsep.join([config.tools, config.llvm_tools, os.environ["PATH"]])
config.environment["PATH"] = path
