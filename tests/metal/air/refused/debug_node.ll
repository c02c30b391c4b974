; REFUSED: air: metadata '
!air.kernel = !{!0}
!0 = !DIFile(filename: "a", directory: "b")
