// Package experiment defines experiments and the configurations that they compare. [Parse] reads an [Experiment] from
// YAML and reports all mistakes with their positions, [Experiment.Set] changes a setting, and
// [Experiment.Configurations] returns a [Case] for each configuration. The package runs nothing; package lab does.
package experiment
