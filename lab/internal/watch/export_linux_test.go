package watch

// ProcessesIn returns the processes of a control group.
func ProcessesIn(cgroup string) ([]int, error) {
	s, err := openCgroup(cgroup)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.PIDs(), nil
}
