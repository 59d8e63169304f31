# Tests of the compiler's passes: kc-opt and FileCheck. CTest gives the tools' places.
import lit.formats

config.name = "FarCL passes"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".ll", ".cl"]
config.test_exec_root = lit_config.params["output"]
for tool in ("kc-opt", "FileCheck", "farcl-kc"):
    config.substitutions.append((r"(?<![-/\w])" + tool + r"(?![-/\w])", lit_config.params[tool]))
