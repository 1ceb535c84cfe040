package record_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/load/internal/random"
	"github.com/weirhq/weir/load/internal/record"
)

func TestRowsThatFindTheQueueFullAreDroppedAndCounted(t *testing.T) {
	var end atomic.Int64
	rows := record.NewRows()
	r := record.New(record.Options{End: &end, Rows: rows, Random: random.New(1, 1), Endpoints: 1})
	const n = 100_000
	for range n {
		r.Response(&record.Flight{}, 200, time.Millisecond)
	}
	dropped := rows.Dropped()
	if dropped == 0 || dropped >= n {
		t.Fatalf("%d of %d rows were dropped without a reader", dropped, n)
	}
	read := int64(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		rows.Read(func(batch []record.Row) { read += int64(len(batch)) })
	}()
	rows.Close([]*record.Recorder{r})
	<-done
	if read+dropped != n || rows.Dropped() != dropped {
		t.Errorf("%d rows were read and %d dropped, of %d", read, rows.Dropped(), n)
	}
}

func TestRowsArePassedOnWithoutAllocating(t *testing.T) {
	var end atomic.Int64
	rows := record.NewRows()
	go rows.Read(func([]record.Row) {})
	r := record.New(record.Options{End: &end, Rows: rows, Random: random.New(1, 1), Endpoints: 1})
	f := &record.Flight{}
	for range 100_000 { // until all batches exist
		r.Response(f, 200, time.Millisecond)
	}
	if n := testing.AllocsPerRun(1000, func() { r.Response(f, 200, time.Millisecond) }); n > 0.5 {
		t.Errorf("%v allocations", n)
	}
	rows.Close([]*record.Recorder{r})
}
