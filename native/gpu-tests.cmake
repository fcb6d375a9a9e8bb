# The tests of the GPU backend and its benchmark, for the emulator and for a vendor's devices alike.
file(GLOB GPU_TESTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/gpu/*_test.cc)
# The host's sampler, which the device's is judged by.
set(SAMPLER_SOURCES sample_lists.cpp sampler.cpp race.cpp truncation.cpp token_rules.cpp logprobs.cpp vocab_math.cpp
                    logit_hash.cpp)
list(TRANSFORM SAMPLER_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/src/engine/)
# Of the benchmark, what has a test.
set(BENCH_PARTS model_load.cpp kernel_times.cpp timing.cpp)
list(TRANSFORM BENCH_PARTS PREPEND ${CMAKE_SOURCE_DIR}/bench/gpu/)

# One program of a quick build, as TEST_GROUPS are; first those that call the host's conversions, since others use the
# device's namespace.
set(GPU_TEST_GROUP emulated_graphs_test kv_write_test numbers_test packing_test all_reduce_test arena_test attention_chunks_test attention_end_test
                   backend_test emulator_test experts_test
                   fragments_test gated_ops_test gdn_step_test graphs_test matmul_gated_test quantize_test rows_test
                   side_copies_test)
list(TRANSFORM GPU_TEST_GROUP REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/test/gpu/\\1.cc")

# gpu_NAME_SUFFIX for every NAME.cc: on LIBRARY, which has kernels, device and backend. Tests with kernels of their own
# are compiled by COMPILE, a function (SOURCE, OUTPUT variable), where one is named.
function(add_gpu_tests SUFFIX LIBRARY)
  set(COMPILE ${ARGN})
  if(COMPILE)
    add_custom_target(gpu_${SUFFIX}_tests)
  endif()
  set(TESTS ${GPU_TESTS})
  if(QUICK AND NOT COMPILE)
    list(REMOVE_ITEM TESTS ${GPU_TEST_GROUP})
    list(APPEND TESTS kernels_group_test)
  endif()
  foreach(SOURCE IN LISTS TESTS)
    get_filename_component(NAME ${SOURCE} NAME_WE)
    if(COMPILE AND NAME MATCHES "^emulat") # of the emulator itself, and of what it alone does
      continue()
    endif()
    if(NOT COMPILE AND QUICK AND NAME MATCHES "engine|ranks") # whole engines, thread by thread
      continue()
    endif()
    # Where lanes make no difference but to kernels, which have tests of their own, one width is enough.
    if(SUFFIX STREQUAL 64 AND NAME MATCHES "^(emulated_.*(engine|ranks)|warmup_engine|sampled_engine|engine_bench)_test$")
      continue()
    endif()
    if(SUFFIX STREQUAL 32 AND NAME STREQUAL emulated_launches_test) # those of AMD
      continue()
    endif()
    set(OBJECT ${SOURCE})
    if(COMPILE)
      file(STRINGS ${SOURCE} OWN_KERNELS REGEX "__global__" LIMIT_COUNT 1)
      if(OWN_KERNELS)
        cmake_language(CALL ${COMPILE} ${SOURCE} OBJECT)
      endif()
    elseif(NAME STREQUAL kernels_group_test)
      set(OBJECT ${GPU_TEST_GROUP})
    endif()
    set(TARGET gpu_${NAME}_${SUFFIX})
    add_executable(${TARGET} ${OBJECT})
    if(NAME STREQUAL kernels_group_test)
      compile_together(${TARGET} 1)
    endif()
    if(COMPILE) # on a device, which there may not be
      set_target_properties(${TARGET} PROPERTIES EXCLUDE_FROM_ALL ON LINKER_LANGUAGE CXX)
      add_dependencies(gpu_${SUFFIX}_tests ${TARGET})
    elseif(NOT SUFFIX STREQUAL 64) # once as vendors' builds compile it, which have no precompiled header
      use_precompiled(${TARGET})
    endif()
    target_include_directories(${TARGET} PRIVATE ${CMAKE_SOURCE_DIR}/test ${CMAKE_SOURCE_DIR}/test/gpu)
    target_link_libraries(${TARGET} PRIVATE ${LIBRARY} llmservice_test_support)
    if(NAME MATCHES "engine|ranks") # whole steps, beside the same by the reference; groups of ranks
      target_link_libraries(${TARGET} PRIVATE llmservice_engine)
    endif()
    if(NAME STREQUAL engine_bench_test)
      target_sources(${TARGET} PRIVATE ${BENCH_PARTS})
    endif()
    if(NAME STREQUAL sampling_test)
      target_sources(${TARGET} PRIVATE ${SAMPLER_SOURCES})
    endif()
    if(NOT COMPILE)
      add_test(NAME ${TARGET} COMMAND ${TARGET})
    endif()
    if(NAME MATCHES "nccl")
      add_dependencies(${TARGET} emulated_nccl)
      target_compile_definitions(${TARGET} PRIVATE EMULATED_NCCL="$<TARGET_FILE:emulated_nccl>")
    endif()
  endforeach()
endfunction()

# libemulated_nccl.so: for tests that open it by its path.
function(add_emulated_nccl LIBRARY)
  add_library(emulated_nccl MODULE ${CMAKE_SOURCE_DIR}/test/gpu/emulated_nccl.cc)
  target_compile_definitions(emulated_nccl PRIVATE $<TARGET_PROPERTY:${LIBRARY},INTERFACE_COMPILE_DEFINITIONS>)
  target_include_directories(emulated_nccl PRIVATE ${CMAKE_SOURCE_DIR}/src)
endfunction()

# device_fault_SUFFIX.node, which test/gpu/device-fault.ts has the engine's process load; COMPILE as above.
function(add_device_fault SUFFIX LIBRARY)
  set(OBJECT ${CMAKE_SOURCE_DIR}/test/gpu/device_fault.cc)
  if(ARGN)
    cmake_language(CALL ${ARGN} ${OBJECT} OBJECT)
  endif()
  set(TARGET device_fault_${SUFFIX})
  add_library(${TARGET} MODULE EXCLUDE_FROM_ALL ${OBJECT})
  set_target_properties(${TARGET} PROPERTIES PREFIX "" SUFFIX ".node" LINKER_LANGUAGE CXX)
  target_link_libraries(${TARGET} PRIVATE ${LIBRARY})
endfunction()

# llmservice_gpu_bench_SUFFIX: no part of `all`, which tests are.
function(add_gpu_bench SUFFIX LIBRARY)
  set(TARGET llmservice_gpu_bench_${SUFFIX})
  file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/gpu/*.cpp)
  add_executable(${TARGET} EXCLUDE_FROM_ALL ${SOURCES} ${CMAKE_SOURCE_DIR}/bench/random_checkpoint.cpp
                                            ${CMAKE_SOURCE_DIR}/bench/model_shape.cpp)
  target_link_libraries(${TARGET} PRIVATE ${LIBRARY} llmservice_engine)
endfunction()

# TARGET.so: the emulator as a vendor's library.
function(add_emulator_library TARGET LIBRARY)
  add_library(${TARGET} SHARED $<TARGET_OBJECTS:${LIBRARY}>)
  set_target_properties(${TARGET} PROPERTIES PREFIX "")
  target_link_libraries(${TARGET} PRIVATE llmservice_ops ${BOOST_CONTEXT})
  target_link_options(${TARGET} PRIVATE -Wl,--exclude-libs,ALL)
endfunction()
