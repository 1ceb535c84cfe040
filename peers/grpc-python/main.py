"""A server and a client of grpcio, which is grpc-core, for the tests of Weir.

It has the commands serve, check, call and quiet of peers/grpc-go. Messages are bytes without a schema."""
import queue
import sys
import threading
import time
from concurrent import futures

import grpc

SERVICE = "grpc.testing.TestService"
SIZES = [("grpc.max_receive_message_length", 8 << 20)]
PATIENCE = 60  # seconds, for a machine that other tests use too


def serve(address, files):
    cancelled = 0

    def metadata(context, key):
        return next((value for name, value in context.invocation_metadata() if name == key), None)

    def pause(context):
        """Returns the pause that the client asks for, in seconds."""
        return float(metadata(context, "pause") or 0)

    def empty(_, context):  # returns the number of cancelled streams
        context.send_initial_metadata([("cancelled", str(cancelled))])
        return b""

    def unary(message, context):  # returns the message after the pause, or fails if the metadata ask for it
        if metadata(context, "wait"):
            time.sleep(min(context.time_remaining() + 1, PATIENCE))
        time.sleep(pause(context))
        echo = metadata(context, "echo-bin")
        if echo is not None:
            context.set_trailing_metadata([("echo-bin", echo)])
        if metadata(context, "fail"):
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not 100% ASCII: \u27c2")
        return message

    def count(messages, _):  # returns the length of all messages
        return str(sum(map(len, messages))).encode()

    def watch(_, context):  # sends three messages with pauses, or one and no end
        gap = pause(context)
        ended = threading.Event()

        def end():
            nonlocal cancelled
            cancelled += 1
            ended.set()

        if not gap and not context.add_callback(end):  # before the message, after which the client may cancel
            return
        for i in range(3 if gap else 1):
            time.sleep(gap / 2 if i else 0)
            yield b"x"
        if not gap:
            ended.wait()

    def duplex(messages, context):  # sends each message back; all but the first after the pause
        for i, message in enumerate(messages):
            time.sleep(pause(context) if i else 0)
            yield message

    server = grpc.server(futures.ThreadPoolExecutor(200), options=SIZES)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {
        "EmptyCall": grpc.unary_unary_rpc_method_handler(empty),
        "UnaryCall": grpc.unary_unary_rpc_method_handler(unary),
        "StreamingInputCall": grpc.stream_unary_rpc_method_handler(count),
        "StreamingOutputCall": grpc.unary_stream_rpc_method_handler(watch),
        "FullDuplexCall": grpc.stream_stream_rpc_method_handler(duplex),
    }),))
    if files:
        cert, key = (open(name, "rb").read() for name in files)
        server.add_secure_port(address, grpc.ssl_server_credentials([(key, cert)]))
    else:
        server.add_insecure_port(address)
    server.start()
    server.wait_for_termination()


class Client:
    def __init__(self, address, roots, options=()):
        options = [*SIZES, ("grpc.enable_retries", 0), *options]
        if roots:
            credentials = grpc.ssl_channel_credentials(open(roots[0], "rb").read())
            options.append(("grpc.ssl_target_name_override", "localhost"))
            self.channel = grpc.secure_channel(address, credentials, options)
        else:
            self.channel = grpc.insecure_channel(address, options)

    def unary(self, name, message=b"", timeout=PATIENCE, metadata=()):
        return self.channel.unary_unary(f"/{SERVICE}/{name}").with_call(message, timeout, metadata)

    def duplex(self, timeout=PATIENCE, metadata=()):
        """Opens a stream. send of the result sends a message, None ends the request."""
        messages = queue.Queue()
        call = self.channel.stream_stream(f"/{SERVICE}/FullDuplexCall")(iter(messages.get, None), timeout, metadata)
        call.send = messages.put
        return call


def equal(got, want):
    if got != want:
        raise AssertionError(f"{got}, want {want}")


def ask(call, size):
    call.send(bytes(size))
    equal(len(next(call)), size)


def finish(call):
    call.send(None)
    equal(list(call), [])


def unary_calls(client):
    for size in (0, 1, 70_000, 4 << 20):
        equal(len(client.unary("UnaryCall", bytes(size))[0]), size)


def status_with_metadata(client):
    value = bytes(range(256))
    try:
        client.unary("UnaryCall", b"x", metadata=[("echo-bin", value), ("fail", "yes")])
    except grpc.RpcError as err:
        equal(err.code(), grpc.StatusCode.FAILED_PRECONDITION)
        equal(err.details(), "not 100% ASCII: \u27c2")
        equal(dict(err.trailing_metadata()).get("echo-bin"), value)
    else:
        raise AssertionError("the call has succeeded")


def client_streaming(client):
    sizes = (1, 0, 70_000, 5, 20_000)
    call = client.channel.stream_unary(f"/{SERVICE}/StreamingInputCall")
    equal(call((bytes(size) for size in sizes), PATIENCE), str(sum(sizes)).encode())


def both_directions(client):
    def stream(_):
        call = client.duplex()
        for size in (1, 0, 70_000, 5, 20_000):
            ask(call, size)
        finish(call)

    with futures.ThreadPoolExecutor(50) as pool:
        list(pool.map(stream, range(50)))


def deadline(client):
    try:
        client.unary("UnaryCall", b"x", 0.1, [("wait", "yes")])
    except grpc.RpcError as err:  # the server may reset the stream first
        if err.code() not in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE):
            raise


def cancelled_stream(client):
    def count():
        return int(dict(client.unary("EmptyCall")[1].initial_metadata())["cancelled"])

    before = count()
    call = client.channel.unary_stream(f"/{SERVICE}/StreamingOutputCall")(b"", PATIENCE)
    equal(next(call), b"x")
    call.cancel()
    end = time.monotonic() + PATIENCE
    while count() == before:
        if time.monotonic() > end:
            raise AssertionError("the server was not informed")


CHECKS = (unary_calls, status_with_metadata, client_streaming, both_directions, deadline, cancelled_stream)


def check(address, roots):
    client = Client(address, roots)
    failures = 0
    for run in CHECKS:
        try:
            run(client)
        except (grpc.RpcError, AssertionError, StopIteration) as err:
            print(f"{run.__name__}: {err}", file=sys.stderr)
            failures += 1
    sys.exit(failures)


def call(address, roots):
    client = Client(address, roots)
    for line in sys.stdin:
        stream = client.channel.unary_stream(line.strip())(b"", PATIENCE)
        try:
            for _ in stream:
                print("message", flush=True)
        except grpc.RpcError:
            pass
        print(stream.code().name.title().replace("_", "").replace("Ok", "OK"), flush=True)


def quiet(address, seconds, roots):
    """Makes the calls of quiet in peers/grpc-go at once."""
    seconds = float(seconds)
    metadata, timeout = [("pause", str(seconds))], seconds + PATIENCE

    def unary(client):
        equal(client.unary("UnaryCall", b"x", timeout, metadata)[0], b"x")

    def silent_server(client):
        stream = client.duplex(timeout, metadata)
        ask(stream, 1)
        ask(stream, 1)
        finish(stream)

    def silent_client(client):
        stream = client.duplex(timeout)
        ask(stream, 1)
        time.sleep(seconds)
        ask(stream, 1)
        finish(stream)

    def silent_stream(client):
        stream = client.duplex(timeout)
        time.sleep(seconds)
        ask(stream, 1)
        finish(stream)

    def slow_messages(client):
        def messages():
            for i in range(3):
                time.sleep(seconds / 2 if i else 0)
                yield b"x"

        equal(client.channel.stream_unary(f"/{SERVICE}/StreamingInputCall")(messages(), timeout), b"3")

    def watch(client):
        stream = client.channel.unary_stream(f"/{SERVICE}/StreamingOutputCall")(b"", timeout, metadata)
        equal(list(stream), [b"x"] * 3)

    pings = (("grpc.keepalive_time_ms", 1000), ("grpc.http2.max_pings_without_data", 0))
    clients = {"": Client(address, roots), ", with PINGs": Client(address, roots, pings)}
    failures = 0
    with futures.ThreadPoolExecutor(20) as pool:
        runs = {pool.submit(run, client): run.__name__ + name for name, client in clients.items()
                for run in (unary, silent_server, silent_client, silent_stream, slow_messages, watch)}
        for run, name in runs.items():
            err = run.exception()
            if err:
                print(f"{name}: {err}", file=sys.stderr)
                failures += 1
    sys.exit(failures)


if __name__ == "__main__":
    command, address, *rest = sys.argv[1:]
    if command == "quiet":
        quiet(address, rest[0], rest[1:])
    else:
        {"serve": serve, "check": check, "call": call}[command](address, rest)
