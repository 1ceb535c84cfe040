package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// checks are calls with the results that a service without Weir returns.
var checks = []struct {
	name string
	run  func(ctx context.Context, c testpb.TestServiceClient) error
}{
	{"unary calls", unary},
	{"messages of 4 MiB", large},
	{"client streaming", clientStreaming},
	{"server streaming", serverStreaming},
	{"streaming in both directions", bothDirections},
	{"an end without messages", noMessages},
	{"metadata", metadataPasses},
	{"a status with details", statusWithDetails},
	{"a status after messages", statusAfterMessages},
	{"a deadline", deadline},
	{"a cancelled stream", cancelledStream},
	{"200 calls at once", manyCalls},
}

// checkAll returns all failures.
func checkAll(conn *grpc.ClientConn) error {
	var failures []error
	c := testpb.NewTestServiceClient(conn)
	for _, check := range checks {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if err := check.run(ctx, c); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", check.name, err))
		}
		cancel()
	}
	return errors.Join(failures...)
}

func unary(ctx context.Context, c testpb.TestServiceClient) error {
	for _, size := range []int{0, 1, 16_383, 65_536, 300_000} {
		r, err := c.UnaryCall(ctx, &testpb.SimpleRequest{ResponseSize: int32(size), Payload: payload(size)})
		if err != nil {
			return err
		}
		if got := len(r.GetPayload().GetBody()); got != size {
			return fmt.Errorf("a message of %d bytes, want %d", got, size)
		}
	}
	return nil
}

func large(ctx context.Context, c testpb.TestServiceClient) error {
	const size = 4 << 20
	r, err := c.UnaryCall(ctx, &testpb.SimpleRequest{ResponseSize: size, Payload: payload(size)})
	if err == nil && len(r.GetPayload().GetBody()) != size {
		err = fmt.Errorf("a message of %d bytes", len(r.GetPayload().GetBody()))
	}
	return err
}

func clientStreaming(ctx context.Context, c testpb.TestServiceClient) error {
	stream, err := c.StreamingInputCall(ctx)
	if err != nil {
		return err
	}
	want := 0
	for _, size := range []int{1, 0, 70_000, 5, 20_000} {
		want += size
		if err := stream.Send(&testpb.StreamingInputCallRequest{Payload: payload(size)}); err != nil {
			return err
		}
	}
	r, err := stream.CloseAndRecv()
	if err == nil && int(r.AggregatedPayloadSize) != want {
		err = fmt.Errorf("%d bytes arrived, want %d", r.AggregatedPayloadSize, want)
	}
	return err
}

func serverStreaming(ctx context.Context, c testpb.TestServiceClient) error {
	r := new(testpb.StreamingOutputCallRequest)
	sizes := []int{1, 0, 70_000, 5, 20_000}
	for _, size := range sizes {
		r.ResponseParameters = append(r.ResponseParameters, &testpb.ResponseParameters{Size: int32(size)})
	}
	stream, err := c.StreamingOutputCall(ctx, r)
	if err != nil {
		return err
	}
	for _, size := range sizes {
		if err := receive(stream, size); err != nil {
			return err
		}
	}
	return ended(stream)
}

// bothDirections sends each message after the response to the one before has arrived.
func bothDirections(ctx context.Context, c testpb.TestServiceClient) error {
	stream, err := c.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	for _, size := range []int{1, 0, 70_000, 5, 20_000} {
		if err := ask(stream, size); err != nil {
			return err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	return ended(stream)
}

func noMessages(ctx context.Context, c testpb.TestServiceClient) error {
	stream, err := c.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	return ended(stream)
}

func metadataPasses(ctx context.Context, c testpb.TestServiceClient) error {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	want := metadata.MD{"echo": {"a", "b, c"}, "echo-bin": {string(all), "\x00"}}
	for _, failure := range []*testpb.EchoStatus{nil, {Code: int32(codes.Aborted), Message: "with metadata"}} {
		var header, trailer metadata.MD
		_, err := c.UnaryCall(metadata.NewOutgoingContext(ctx, want), &testpb.SimpleRequest{ResponseStatus: failure},
			grpc.Header(&header), grpc.Trailer(&trailer))
		if status.Code(err) != codes.Code(failure.GetCode()) {
			return err
		}
		if !slices.Equal(header["echo"], want["echo"]) || !slices.Equal(trailer["echo-bin"], want["echo-bin"]) {
			return fmt.Errorf("header %q, trailers %q, want %q", header, trailer, want)
		}
	}
	return nil
}

// statusWithDetails gets a response that has only trailers.
func statusWithDetails(ctx context.Context, c testpb.TestServiceClient) error {
	const message = "\t\nnot 100% ASCII: ⟂\r\n"
	detail := payload(3000)
	_, err := c.UnaryCall(ctx, &testpb.SimpleRequest{Payload: detail,
		ResponseStatus: &testpb.EchoStatus{Code: int32(codes.FailedPrecondition), Message: message}})
	got := status.Convert(err)
	if got.Code() != codes.FailedPrecondition || got.Message() != message || len(got.Details()) != 1 {
		return fmt.Errorf("%v with %d details", got, len(got.Details()))
	}
	if m, ok := got.Details()[0].(proto.Message); !ok || !proto.Equal(m, detail) {
		return fmt.Errorf("the detail is %v", got.Details()[0])
	}
	return nil
}

func statusAfterMessages(ctx context.Context, c testpb.TestServiceClient) error {
	stream, err := c.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	err = stream.Send(&testpb.StreamingOutputCallRequest{ResponseParameters: []*testpb.ResponseParameters{{Size: 9}},
		ResponseStatus: &testpb.EchoStatus{Code: int32(codes.DataLoss), Message: "late"}})
	if err != nil {
		return err
	}
	if err := receive(stream, 9); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	if _, err = stream.Recv(); status.Code(err) != codes.DataLoss {
		return fmt.Errorf("the stream ended with %v", err)
	}
	return nil
}

// deadline calls a method that waits for the end of the call. Metadata make the server fail
// if it gets no deadline. The timer of the server may end the stream with CANCEL before that of
// the client fires. Then Weir responds with 502.
func deadline(ctx context.Context, c testpb.TestServiceClient) error {
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "wait", "yes"), 100*time.Millisecond)
	defer cancel()
	_, err := c.UnaryCall(ctx, &testpb.SimpleRequest{})
	end, _ := ctx.Deadline()
	if code := status.Code(err); code != codes.DeadlineExceeded && code != codes.Unavailable || time.Now().Before(end) {
		return fmt.Errorf("the call ended with %v", err)
	}
	return nil
}

// cancelledStream receives the first message while the server waits, cancels the call, and
// waits until the server counts it.
func cancelledStream(ctx context.Context, c testpb.TestServiceClient) error {
	before, err := countCancelled(ctx, c)
	if err != nil {
		return err
	}
	cancellable, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.StreamingOutputCall(cancellable, endless())
	if err != nil {
		return err
	}
	if err := receive(stream, 1); err != nil {
		return err
	}
	cancel()
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		return fmt.Errorf("the stream ended with %v", err)
	}
	for {
		after, err := countCancelled(ctx, c)
		if err != nil {
			return fmt.Errorf("the server was not informed: %w", err)
		}
		if after > before {
			return nil
		}
	}
}

func countCancelled(ctx context.Context, c testpb.TestServiceClient) (int, error) {
	var header metadata.MD
	if _, err := c.EmptyCall(ctx, &testpb.Empty{}, grpc.Header(&header)); err != nil {
		return 0, err
	}
	if len(header["cancelled"]) != 1 {
		return 0, fmt.Errorf("the header is %v", header)
	}
	return strconv.Atoi(header["cancelled"][0])
}

func manyCalls(ctx context.Context, c testpb.TestServiceClient) error {
	var all sync.WaitGroup
	failures := make([]error, 200)
	for i := range failures {
		all.Go(func() {
			if i%2 == 0 {
				failures[i] = bothDirections(ctx, c)
			} else {
				failures[i] = metadataPasses(ctx, c)
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

// ask sends a message and receives the response to it.
func ask(stream testpb.TestService_FullDuplexCallClient, size int) error {
	err := stream.Send(&testpb.StreamingOutputCallRequest{Payload: payload(size),
		ResponseParameters: []*testpb.ResponseParameters{{Size: int32(size)}}})
	if err != nil {
		return err
	}
	return receive(stream, size)
}

// A receiver is a stream of messages from the server.
type receiver interface {
	Recv() (*testpb.StreamingOutputCallResponse, error)
}

func receive(stream receiver, size int) error {
	r, err := stream.Recv()
	if err == nil && len(r.GetPayload().GetBody()) != size {
		err = fmt.Errorf("a message of %d bytes, want %d", len(r.GetPayload().GetBody()), size)
	}
	return err
}

// ended returns an error if the stream does not end with the status OK.
func ended(stream receiver) error {
	if _, err := stream.Recv(); err != io.EOF {
		return fmt.Errorf("the stream ended with %v", err)
	}
	return nil
}
