package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
)

// quietChecks are calls in which one side, or both, is silent for a time.
var quietChecks = []struct {
	name string
	run  func(ctx context.Context, c testpb.TestServiceClient, pause time.Duration) error
}{
	{"unary", quietUnary},
	{"silent server", silentServer},
	{"silent client", silentClient},
	{"silent stream", silentStream},
	{"slow messages", slowMessages},
	{"watch", watch},
}

// checkQuiet makes the calls at once, with the default policy of PINGs and with one every ten seconds, which is the
// most that grpc-go sends. It returns all failures.
func checkQuiet(address, pause string, roots []string) error {
	length, err := time.ParseDuration(pause + "s")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), length+patience)
	defer cancel()
	var running sync.WaitGroup
	failures := make([]error, 2*len(quietChecks))
	for i, options := range [][]grpc.DialOption{nil, {grpc.WithKeepaliveParams(keepalive.ClientParameters{
		Time: 10 * time.Second, PermitWithoutStream: true})}} {
		conn, err := connect(address, roots, options...)
		if err != nil {
			return err
		}
		defer conn.Close()
		for j, check := range quietChecks {
			running.Go(func() {
				if err := check.run(ctx, testpb.NewTestServiceClient(conn), length); err != nil {
					failures[i*len(quietChecks)+j] = fmt.Errorf("%s, with PINGs: %t: %w", check.name, i > 0, err)
				}
			})
		}
	}
	running.Wait()
	return errors.Join(failures...)
}

// pausing has the server pause.
func pausing(ctx context.Context, pause time.Duration) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "pause", fmt.Sprint(pause.Seconds()))
}

// requestedPause returns how long the server is to pause.
func requestedPause(ctx context.Context) time.Duration {
	got, _ := metadata.FromIncomingContext(ctx)
	for _, seconds := range got["pause"] {
		if pause, err := time.ParseDuration(seconds + "s"); err == nil {
			return pause
		}
	}
	return 0
}

func quietUnary(ctx context.Context, c testpb.TestServiceClient, pause time.Duration) error {
	_, err := c.UnaryCall(pausing(ctx, pause), &testpb.SimpleRequest{})
	return err
}

// silentServer has the server pause after its first message.
func silentServer(ctx context.Context, c testpb.TestServiceClient, pause time.Duration) error {
	stream, err := c.FullDuplexCall(pausing(ctx, pause))
	if err != nil {
		return err
	}
	if err := ask(stream, 1); err != nil {
		return err
	}
	return lastMessage(stream)
}

// silentClient pauses after the first message.
func silentClient(ctx context.Context, c testpb.TestServiceClient, pause time.Duration) error {
	stream, err := c.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	if err := ask(stream, 1); err != nil {
		return err
	}
	time.Sleep(pause)
	return lastMessage(stream)
}

// silentStream opens a stream on which nothing is sent for a time, not even the head of the response.
func silentStream(ctx context.Context, c testpb.TestServiceClient, pause time.Duration) error {
	stream, err := c.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	time.Sleep(pause)
	return lastMessage(stream)
}

// slowMessages pauses between messages that have one response.
func slowMessages(ctx context.Context, c testpb.TestServiceClient, pause time.Duration) error {
	stream, err := c.StreamingInputCall(ctx)
	if err != nil {
		return err
	}
	for i := range 3 {
		if i > 0 {
			time.Sleep(pause / 2)
		}
		if err := stream.Send(&testpb.StreamingInputCallRequest{Payload: payload(1)}); err != nil && err != io.EOF {
			return err
		}
	}
	r, err := stream.CloseAndRecv()
	if err == nil && r.AggregatedPayloadSize != 3 {
		err = fmt.Errorf("%d bytes arrived, want 3", r.AggregatedPayloadSize)
	}
	return err
}

// watch receives messages with pauses.
func watch(ctx context.Context, c testpb.TestServiceClient, pause time.Duration) error {
	gap := int32(pause / 2 / time.Microsecond)
	stream, err := c.StreamingOutputCall(ctx, &testpb.StreamingOutputCallRequest{ResponseParameters: []*testpb.ResponseParameters{
		{Size: 1}, {Size: 1, IntervalUs: gap}, {Size: 1, IntervalUs: gap}}})
	if err != nil {
		return err
	}
	for range 3 {
		if err := receive(stream, 1); err != nil {
			return err
		}
	}
	return ended(stream)
}

// lastMessage sends a message, receives the response and ends the stream.
func lastMessage(stream testpb.TestService_FullDuplexCallClient) error {
	if err := ask(stream, 1); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	return ended(stream)
}
