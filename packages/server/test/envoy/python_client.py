"""A client on gRPC's C core, the library behind Envoy's google_grpc: one question in hex per line, one answer per line."""
import sys

import grpc

PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"

channel = grpc.insecure_channel(sys.argv[1])
call = channel.unary_unary(PATH)

for line in sys.stdin:
    try:
        answer = call(bytes.fromhex(line.strip()), timeout=5)
        print("0 " + answer.hex(), flush=True)
    except grpc.RpcError as error:
        print(f"{error.code().value[0]} ", flush=True)
