"""A client on gRPC's C core, the library behind Envoy's google_grpc.

A line with a server and a question in hex gets one line with the answer; a line with a server alone ends its connection.
"""
import sys

import grpc

PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"

channels = {}

for line in sys.stdin:
    target, *questions = line.split()
    if not questions:
        channels.pop(target).close()
        continue
    if target not in channels:
        channels[target] = grpc.insecure_channel(target)
    try:
        answer = channels[target].unary_unary(PATH)(bytes.fromhex(questions[0]), timeout=60)
        print("0 " + answer.hex(), flush=True)
    except grpc.RpcError as error:
        print(f"{error.code().value[0]} ", flush=True)
