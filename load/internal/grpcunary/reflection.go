package grpcunary

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// reflectionVersions are the services of reflection. Older servers have only the second one.
var reflectionVersions = []string{"grpc.reflection.v1", "grpc.reflection.v1alpha"}

// The fields of the messages of reflection:
// https://github.com/grpc/grpc/blob/master/src/proto/grpc/reflection/v1/reflection.proto.
const (
	fileByFilename       = 3 // of a request
	fileContainingSymbol = 4

	fileDescriptorResponse = 4 // of a response
	errorResponse          = 7

	fileDescriptorProto = 1 // of a FileDescriptorResponse
	errorMessage        = 2 // of an ErrorResponse
)

// mostReflected limits a response of the server, in bytes.
const mostReflected = 16 << 20

// ErrNoReflection is the error of a server without the service of reflection.
var ErrNoReflection = errors.New("the server has no reflection")

// ErrReflectionStatus is the error of a server that does not let this program use its reflection.
var ErrReflectionStatus = errors.New("its reflection has status")

// reflect asks the server for the file with the method's service, and for all that it imports.
func (s Source) reflect(ctx context.Context, m Method) (*protoregistry.Files, error) {
	var err error
	for _, version := range reflectionVersions {
		var files *protoregistry.Files
		if files, err = s.reflectWith(ctx, version, m); !errors.Is(err, ErrNoReflection) {
			return files, err
		}
	}
	return nil, err
}

func (s Source) reflectWith(ctx context.Context, version string, m Method) (*protoregistry.Files, error) {
	found, err := s.ask(ctx, version, fileContainingSymbol, m.service)
	if err != nil {
		return nil, err
	}
	var set descriptorpb.FileDescriptorSet
	known := func(name string) bool {
		return slices.ContainsFunc(set.File, func(f *descriptorpb.FileDescriptorProto) bool { return f.GetName() == name })
	}
	for len(found) > 0 {
		for _, f := range found {
			if !known(f.GetName()) {
				set.File = append(set.File, f)
			}
		}
		found = nil
		for _, f := range set.File {
			if i := slices.IndexFunc(f.Dependency, func(name string) bool { return !known(name) }); i >= 0 {
				if found, err = s.ask(ctx, version, fileByFilename, f.Dependency[i]); err != nil {
					return nil, err
				}
				if !slices.ContainsFunc(found, func(g *descriptorpb.FileDescriptorProto) bool { return g.GetName() == f.Dependency[i] }) {
					return nil, fmt.Errorf("the server's reflection lacks %s", f.Dependency[i])
				}
				break
			}
		}
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return nil, fmt.Errorf("the descriptors of the server's reflection: %w", clean(err))
	}
	return files, nil
}

// ask sends a request of reflection, and returns the files of the response.
func (s Source) ask(ctx context.Context, version string, field protowire.Number, value string) ([]*descriptorpb.FileDescriptorProto, error) {
	request := protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), value)
	at := s.Server + "/" + version + ".ServerReflection/ServerReflectionInfo"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(frame(request)))
	if err != nil {
		return nil, err
	}
	if r.Header = s.Header.Clone(); r.Header == nil {
		r.Header = http.Header{}
	}
	r.Host = r.Header.Get("Host")
	r.Header.Set("Content-Type", ContentType)
	r.Header.Set("Te", "trailers")
	resp, err := s.Client.Do(r)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL of reflection, which the user does not know
	}
	if err != nil {
		return nil, fmt.Errorf("asking the server for the method: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostReflected))
	if err != nil {
		return nil, fmt.Errorf("asking the server for the method: %w", err)
	}
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), ContentType) {
		return nil, fmt.Errorf("asking the server for the method: it is no server of gRPC, and responds with %s", resp.Status)
	}
	if len(body) < 5 || body[0] != 0 || int64(binary.BigEndian.Uint32(body[1:])) > int64(len(body)-5) {
		status := resp.Trailer.Get("Grpc-Status") + resp.Header.Get("Grpc-Status")
		if status == "12" { // UNIMPLEMENTED
			return nil, ErrNoReflection
		}
		return nil, fmt.Errorf("asking the server for the method: %w %q", ErrReflectionStatus, status)
	}
	return filesOf(body[5:][:binary.BigEndian.Uint32(body[1:])])
}

// filesOf reads a response of reflection.
func filesOf(response []byte) (files []*descriptorpb.FileDescriptorProto, err error) {
	refused := ""
	err = eachBytes(response, func(field protowire.Number, value []byte) error {
		switch field {
		case fileDescriptorResponse:
			return eachBytes(value, func(field protowire.Number, file []byte) error {
				if field != fileDescriptorProto {
					return nil
				}
				f := new(descriptorpb.FileDescriptorProto)
				files = append(files, f)
				return proto.Unmarshal(file, f)
			})
		case errorResponse:
			return eachBytes(value, func(field protowire.Number, message []byte) error {
				if field == errorMessage {
					refused = string(message)
				}
				return nil
			})
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the response of the server's reflection: %w", clean(err))
	case len(files) == 0:
		return nil, fmt.Errorf("the server's reflection has no such service: %s", refused)
	}
	return files, nil
}

// eachBytes calls f for each field of a message that has bytes.
func eachBytes(message []byte, f func(field protowire.Number, value []byte) error) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(field, kind, message); n < 0 {
			return protowire.ParseError(n)
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message)
			if err := f(field, value); err != nil {
				return err
			}
		}
		message = message[n:]
	}
	return nil
}

// servicesOf returns the names of the services in the files.
func servicesOf(files *protoregistry.Files) (names []string) {
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			names = append(names, string(f.Services().Get(i).FullName()))
		}
		return true
	})
	slices.Sort(names)
	return names
}
