# The tests of the GPU backend, for the emulator and for a vendor's devices alike.
file(GLOB GPU_TESTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/gpu/*_test.cc)
# The host's sampler, which the device's is judged by.
set(SAMPLER_SOURCES sample_lists.cpp sampler.cpp truncation.cpp token_rules.cpp logprobs.cpp vocab_math.cpp
                    logit_hash.cpp)
list(TRANSFORM SAMPLER_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/src/engine/)

# gpu_NAME_SUFFIX for every NAME.cc: on LIBRARY, which has kernels, device and backend. Tests with kernels of their own
# are compiled by COMPILE, a function (SOURCE, OUTPUT variable), where one is named.
function(add_gpu_tests SUFFIX LIBRARY)
  set(COMPILE ${ARGN})
  if(COMPILE)
    add_custom_target(gpu_${SUFFIX}_tests)
  endif()
  foreach(SOURCE IN LISTS GPU_TESTS)
    get_filename_component(NAME ${SOURCE} NAME_WE)
    if(COMPILE AND NAME MATCHES "^emulat") # of the emulator itself, and of what it alone does
      continue()
    endif()
    set(OBJECT ${SOURCE})
    file(STRINGS ${SOURCE} OWN_KERNELS REGEX "__global__" LIMIT_COUNT 1)
    if(COMPILE AND OWN_KERNELS)
      cmake_language(CALL ${COMPILE} ${SOURCE} OBJECT)
    endif()
    set(TARGET gpu_${NAME}_${SUFFIX})
    add_executable(${TARGET} ${OBJECT})
    if(COMPILE) # on a device, which there may not be
      set_target_properties(${TARGET} PROPERTIES EXCLUDE_FROM_ALL ON LINKER_LANGUAGE CXX)
      add_dependencies(gpu_${SUFFIX}_tests ${TARGET})
    endif()
    target_include_directories(${TARGET} PRIVATE ${CMAKE_SOURCE_DIR}/test ${CMAKE_SOURCE_DIR}/test/gpu)
    target_link_libraries(${TARGET} PRIVATE ${LIBRARY} GTest::gtest_main)
    if(NAME MATCHES "engine|ranks") # whole steps, beside the same by the reference; groups of ranks
      target_link_libraries(${TARGET} PRIVATE llmservice_engine)
    endif()
    if(NAME STREQUAL sampling_test)
      target_sources(${TARGET} PRIVATE ${SAMPLER_SOURCES})
    endif()
    if(NOT COMPILE)
      add_test(NAME ${TARGET} COMMAND ${TARGET})
    endif()
  endforeach()
endfunction()
