package log_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

const prefix = `{"created_at":"2026-11-21T02:06:14.123456Z","namespace":"test","event":"event"`

func TestEventsAreWrittenInWireForm(t *testing.T) {
	west := time.FixedZone("west", -8*3600)
	for name, c := range map[string]struct {
		add  func(log.Event) log.Event
		want string
	}{
		"nothing": {func(e log.Event) log.Event { return e }, `,"severity":3`},
		"ids": {func(e log.Event) log.Event { return e.TraceID("t").SpanID("s") },
			`,"trace_id":"t","span_id":"s","severity":3`},
		"empty id": {func(e log.Event) log.Event { return e.TraceID("").SpanID("") }, `,"severity":3`},
		"second id": {func(e log.Event) log.Event { return e.TraceID("first").SpanID("s").Str("a", "b").TraceID("2") },
			`,"trace_id":"2","span_id":"s","severity":3,"data":{"a":"b"}`},
		"auth": {func(e log.Event) log.Event { return e.Auth("me", log.IdentityService) },
			`,"severity":3,"auth":{"identity":"me","identity_type":"service"}`},
		"empty http": {func(e log.Event) log.Event { return e.HTTP(&log.HTTP{}) },
			`,"severity":3,"http":{"status_code":0}`},
		"nil http": {func(e log.Event) log.Event { return e.HTTP(nil) }, `,"severity":3`},
		"full http": {func(e log.Event) log.Event {
			return e.HTTP(&log.HTTP{StatusCode: 200, Method: "GET", Scheme: "http", Host: "h", Port: 80, Path: "/",
				Query:     "q",
				StartedAt: instant, EndedAt: instant.Add(time.Second), Duration: time.Second, ResponseContentLength: 5,
				Route: "/{x}", Client: "c", Protocol: "HTTP/1.1", UserAgent: "u", Referer: "r",
				RequestContentLength: 6})
		}, `,"severity":3,"http":{"status_code":200,"method":"GET","scheme":"http","host":"h","port":80,"path":"/"` +
			`,"query":"q",` +
			`"started_at":"2026-11-21T02:06:14.123456Z","ended_at":"2026-11-21T02:06:15.123456Z"` +
			`,"duration":1000000000,` +
			`"response_content_length":5,"route":"/{x}","client":"c","protocol":"HTTP/1.1","user_agent":"u"` +
			`,"referer":"r","request_content_length":6}`},
		"scalars": {func(e log.Event) log.Event { return everyScalar(e, instant.In(west)) },
			`,"severity":3,"data":{"a":"b","c":true,"i":-1,"i8":-8,"i16":-16,"i32":-32,"i64":-64,"u":1,"u8":8` +
				`,"u16":16,"u32":32,"u64":64,` +
				`"f32":0.1,"f64":0.1,"t":"2026-11-21T02:06:14.123456Z","d":1000000000}`},
		"bytes": {func(e log.Event) log.Event { return e.Bytes("b", []byte{0xfb, 0xff}).Hex("h", []byte{0xfb, 0xff}) },
			`,"severity":3,"data":{"b":"+/8=","h":"fbff"}`},
		"floats": {func(e log.Event) log.Event {
			return e.Float64s("f", []float64{math.NaN(), math.Inf(1), math.Inf(-1)})
		}, `,"severity":3,"data":{"f":["NaN","+Inf","-Inf"]}`},
		"slices": {func(e log.Event) log.Event {
			return e.Strs("s", []string{"a", ""}).Ints("i", []int{1, 2}).Int64s("l", nil).
				Uint64s("u", []uint64{math.MaxUint64}).
				Bools("b", []bool{true, false}).Durs("d", []time.Duration{1})
		}, `,"severity":3,"data":{"s":["a",""],"i":[1,2],"l":[],"u":[18446744073709551615],"b":[true,false],"d":[1]}`},
		"nested": {func(e log.Event) log.Event {
			return e.Object("o", func(e log.Event) {
				e.Int("n", 1).Array("a", func(e log.Event) {
					e.Str("", "x").Object("", func(e log.Event) { e.Bool("b", true) }).Array("", func(log.Event) {}).
						Any("", nil)
				}).Object("empty", func(log.Event) {})
			}).Str("after", "{")
		}, `,"severity":3,"data":{"o":{"n":1,"a":["x",{"b":true},[],null],"empty":{}},"after":"{"}`},
		"the event's own inside an object": {func(e log.Event) log.Event {
			return e.Object("o", func(e log.Event) {
				e.TraceID("t").Err(errRefused).HTTP(&log.HTTP{StatusCode: 1}).At(time.Time{}).Logger()
				e.Send()
			}).Str("z", "z")
		}, `,"severity":3,"data":{"o":{"trace_id":"t","error":"` + errRefused.Error() +
			`","http":{"status_code":1}},"z":"z"}`},
		"duplicates": {func(e log.Event) log.Event { return e.Int("a", 1).Int("a", 2) },
			`,"severity":3,"data":{"a":1,"a":2}`},
		"reserved": {func(e log.Event) log.Event { return e.Str("severity", "0").Str("event", "x") },
			`,"severity":3,"data":{"severity":"0","event":"x"}`},
		"years": {func(e log.Event) log.Event {
			return e.Time("a", time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).
				Time("b", time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)).
				Time("c", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)).
				Time("d", time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC))
		}, `,"severity":3,"data":{"a":"0000-01-01T00:00:00Z","b":"9999-12-31T23:59:59.999999999Z","c":"!ERROR: ` +
			`year outside of 0 to 9999","d":"!ERROR: year outside of 0 to 9999"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got, want := lineOf(t, c.add), prefix+c.want+"}\n"; got != want {
				t.Errorf("got  %swant %s", got, want)
			}
		})
	}
}

// TestOrderOfKeysIsFixed sets the parts of an event in random orders, some of them
// twice. The line must always be the same.
func TestOrderOfKeysIsFixed(t *testing.T) {
	want := prefix + `,"trace_id":"trace","span_id":"span","severity":3,` +
		`"http":{"status_code":200,"method":"GET"},"auth":{"identity":"me","identity_type":"user"},` +
		`"data":{"a":"b"},"errors":[{"message":"` + errRefused.Error() + `"}]}` + "\n"
	repeatable := []func(log.Event){
		func(e log.Event) { e.TraceID("trace") },
		func(e log.Event) { e.SpanID("span") },
		func(e log.Event) { e.HTTP(&log.HTTP{StatusCode: 200, Method: "GET"}) },
		func(e log.Event) { e.Auth("me", log.IdentityUser) },
	}
	calls := append(repeatable,
		func(e log.Event) { e.Str("a", "b") },
		func(e log.Event) { e.Err(errRefused) },
	)
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		order := random.Perm(len(calls))
		for range random.IntN(4) {
			order = append(order, random.IntN(len(repeatable)))
		}
		inWith := random.IntN(len(order) + 1) // this many of them are set in With
		var w lineWriter
		with := log.New(&w, log.Options{Namespace: "test"}).With()
		for _, i := range order[:inWith] {
			calls[i](with)
		}
		e := with.Logger().Info("event").At(instant)
		for _, i := range order[inWith:] {
			calls[i](e)
		}
		e.Send()
		if w.lines[0] != want {
			t.Fatalf("order %v, %d in With:\ngot  %swant %s", order, inWith, w.lines[0], want)
		}
	}
}

func TestInstantsAreWrittenInRFC3339(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		at := time.Unix(random.Int64N(1<<37)-1<<35, random.Int64N(1e9)).UTC()
		switch random.IntN(3) {
		case 0:
			at = at.Truncate(time.Millisecond)
		case 1:
			at = at.Truncate(time.Second)
		}
		line := lineOf(t, func(e log.Event) log.Event {
			return e.At(at).Time("t", at).Time("u", at.Add(time.Nanosecond))
		})
		want := at.Format(time.RFC3339Nano)
		if !strings.HasPrefix(line, `{"created_at":"`+want+`",`) {
			t.Fatalf("got %s want created_at %s", line, want)
		}
		data := dataOf(t, line)
		if data["t"] != want || data["u"] != at.Add(time.Nanosecond).Format(time.RFC3339Nano) {
			t.Fatalf("got %v, want %s", data, want)
		}
	}
}

// TestCreatedAtKeepsNothingOfOtherEvents checks that no event leaves bytes of its
// created_at in the pooled buffer, in each format and for times of every
// length.
func TestCreatedAtKeepsNothingOfOtherEvents(t *testing.T) {
	fields := &rich{text: strings.Repeat("rich", 20)}
	for _, format := range []log.Format{log.FormatJSON, log.FormatJSONv1, log.FormatLTSV} {
		var w lineWriter
		logger := log.New(&w, log.Options{Format: format})
		want, layout := `{"created_at":"%s","namespace"`, time.RFC3339Nano
		if format == log.FormatLTSV {
			want, layout = "time:%s\tlevel:", "2006-01-02T15:04:05.000000Z07:00"
		}
		at := instant
		for i := range 200 {
			switch i % 5 {
			case 0:
				logger.Error("event").Err(fields).At(at).Send()
			case 1:
				logger.Info("event").At(time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)).Send()
				at = at.Truncate(time.Second).Add(time.Duration(100000000 / (i + 1)))
			case 2:
				logger.Info("event").At(at.Add(time.Hour)).Str("long", strings.Repeat("x", 70<<10)).Send()
				at = at.Add(100 * time.Millisecond)
			case 3:
				logger.With().Str("a", "b").Logger()
				at = at.Truncate(time.Second)
			}
			logger.Info("event").At(at).Send()
			line := w.lines[len(w.lines)-1]
			if want := fmt.Sprintf(want, at.Format(layout)); !strings.HasPrefix(line, want) {
				t.Fatalf("line %d: got %s want %s", i, line, want)
			}
		}
	}
}

func TestCreatedAtIsTheInstantOfSend(t *testing.T) {
	var w lineWriter
	e := log.New(&w, log.Options{}).Info("event")
	before := time.Now()
	e.Send()
	after := time.Now()
	var got struct {
		At time.Time `json:"created_at"`
	}
	if err := json.Unmarshal([]byte(w.lines[0]), &got); err != nil {
		t.Fatal(err)
	}
	if got.At.Before(before) || got.At.After(after) {
		t.Errorf("created_at %v is not between %v and %v", got.At, before, after)
	}
}

func TestCallerMayReuseWhatItPassed(t *testing.T) {
	b, h := []byte("before"), &log.HTTP{Path: "before"}
	line := lineOf(t, func(e log.Event) log.Event {
		e.HTTP(h).Hex("b", b)
		copy(b, "after!")
		h.Path = "after"
		return e
	})
	if strings.Contains(line, "after") || !strings.Contains(line, "6265666f7265") {
		t.Errorf("got %s", line)
	}
}
