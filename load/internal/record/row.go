package record

import (
	"sync/atomic"
	"time"
)

// A Row is a request that has ended.
type Row struct {
	Due, Sent, Done time.Duration // since the start; Due is Sent in the closed loop
	Status          int32         // 0 without a whole response
	Bytes           int64         // of the response's body
	Target          *string       // the method and the path
	Failure         string        // "" for a response that is as expected
}

const (
	batchRows   = 256 // in one message to the reader
	mostBatches = 128 // that wait for it
)

// Rows carries the rows of all threads to one reader, through a queue of about 33,000. Rows that find it full are dropped.
type Rows struct {
	full    chan []Row
	free    chan []Row
	dropped atomic.Int64
}

// NewRows returns an empty queue.
func NewRows() *Rows {
	return &Rows{full: make(chan []Row, mostBatches), free: make(chan []Row, mostBatches)}
}

// Read calls write with all rows until Close. write does not keep them.
func (q *Rows) Read(write func([]Row)) {
	for batch := range q.full {
		write(batch)
		select {
		case q.free <- batch[:0]:
		default:
		}
	}
}

// Close passes the last rows of the recorders, which have ended, and ends the queue.
func (q *Rows) Close(recorders []*Recorder) {
	for _, r := range recorders {
		if len(r.detail.batch) > 0 {
			q.full <- r.detail.batch
		}
	}
	close(q.full)
}

// Dropped returns the number of rows that were dropped.
func (q *Rows) Dropped() int64 { return q.dropped.Load() }

// detail keeps single requests of a recorder.
type detail struct {
	points *thinner // nil if none are kept
	rows   *Rows    // nil if none are passed on
	batch  []Row
}

// newDetail returns nil if single requests are not kept.
func newDetail(points *thinner, rows *Rows) *detail {
	if points == nil && rows == nil {
		return nil
	}
	d := &detail{points: points, rows: rows}
	if d.rows != nil {
		d.batch = make([]Row, 0, batchRows)
	}
	return d
}

// add adds a row to the batch, and passes a whole batch on.
func (d *detail) add(r Row) {
	if d.batch = append(d.batch, r); len(d.batch) == batchRows {
		d.pass()
	}
}

// pass gives the batch to the reader, or drops it if the queue is full.
func (d *detail) pass() {
	select {
	case d.rows.full <- d.batch:
	default:
		d.rows.dropped.Add(int64(len(d.batch)))
		d.batch = d.batch[:0]
		return
	}
	select {
	case d.batch = <-d.rows.free:
	default:
		d.batch = make([]Row, 0, batchRows)
	}
}
