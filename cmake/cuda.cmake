# cupola_cuda_program(name SOURCES file... [OUTPUT file] [OPTIONS flag...] [OBJECTS file...] [LIBS argument...])
#
# A CUDA program of our own, compiled and linked by the cupolac of this tree; the target is `name`, the program OUTPUT or
# build/bin/name. OPTIONS go to each compilation, LIBS to the link, and so do OBJECTS, which rules of the same folder make.
# A source is compiled again when it, a header, cupolac or the device library changes; other libraries are only waited
# for, because programs find them when they start.
include_guard(GLOBAL)

function(cupola_cuda_program name)
  cmake_parse_arguments(ARG "ON_DEMAND" "OUTPUT" "SOURCES;OPTIONS;OBJECTS;LIBS" ${ARGN})
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT ${CMAKE_BINARY_DIR}/bin/${name})
  endif()
  set(cupolac ${CMAKE_BINARY_DIR}/bin/cupolac)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name})
  file(MAKE_DIRECTORY ${folder})

  # The PTX in an object holds functions of the device library.
  set(device_libraries ${CMAKE_BINARY_DIR}/lib/cupola/device.bc)
  if(CUPOLA_LIBCLC)
    list(APPEND device_libraries ${CMAKE_BINARY_DIR}/lib/cupola/c_library.bc)
  endif()
  set(objects)
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(stem ${source} NAME_WE)
    set(object ${folder}/${stem}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${cupolac} ${ARG_OPTIONS} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
      DEPENDS ${source} cupolac ${device_libraries}
      DEPFILE ${object}.d
      COMMENT "CUDA object ${name}/${stem}.o" VERBATIM)
    list(APPEND objects ${object})
  endforeach()

  get_filename_component(output_folder ${ARG_OUTPUT} DIRECTORY)
  add_custom_command(OUTPUT ${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${output_folder}
    COMMAND ${cupolac} ${objects} ${ARG_OBJECTS} -o ${ARG_OUTPUT} ${ARG_LIBS}
    DEPENDS ${objects} ${ARG_OBJECTS} cupolac
    COMMENT "CUDA program ${name}" VERBATIM)
  if(ARG_ON_DEMAND)
    add_custom_target(${name} DEPENDS ${ARG_OUTPUT})
  else()
    add_custom_target(${name} ALL DEPENDS ${ARG_OUTPUT})
  endif()
  add_dependencies(${name} cupola-headers)
  foreach(library cupola-cuda-driver cupola-cuda-cudart cupola-cuda-cudart-static cupola-compiler cupola-device)
    add_dependencies(${name} ${library})
  endforeach()
endfunction()
