"""The launch checks, in the order of the checklist. Each is a function of a draft that looks at
rows and values only: what needs the network was asked before (``launch.probes``)."""
