# slipring check FILE
for i in range(5000000):
    out[:, :] = a[:, :] + COUNT
