# slipring check FILE --set rowz=2
import pypto.language as pl
