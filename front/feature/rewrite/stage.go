package rewrite

import (
	"errors"
	"fmt"

	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/stage"
)

// Stage returns the stage that rewrites the requests of a route with a pattern, or nil.
func Stage(c Config, p *template.Pattern) (stage.Stage, error) {
	if c == (Config{}) {
		return nil, nil
	}
	r, refused := parse(c, p)
	for _, why := range refused {
		if why != nil {
			return nil, errors.New(why.What)
		}
	}
	return r, nil
}

// Apply implements stage.Stage.
func (r *rewrite) Apply(x *stage.Exchange) (responded bool) {
	v := template.Of(x)
	status, why := 0, ""
	target, _ := x.Text(func(b []byte) ([]byte, error) {
		b, status, why = r.append(b, &v, x.Target[len(x.Path):])
		return b, nil
	})
	if status != 0 {
		x.Refuse(status, why)
		return true
	}
	x.Target, x.Rewritten = target, true
	return false
}

// Explain implements stage.Explainer.
func (r *rewrite) Explain(x *stage.Exchange) (steps []string, ends bool) {
	v := template.Of(x)
	target, status, why := r.append(nil, &v, x.Target[len(x.Path):])
	if status != 0 {
		return []string{fmt.Sprintf("responds with %d: %s", status, why)}, true
	}
	return []string{"changes the target to " + string(target)}, false
}
